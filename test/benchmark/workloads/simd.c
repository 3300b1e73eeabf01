// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses floating point and vectors: planets that attract each other, and a blur
// of an image. `simd N` does N rounds of both. Built with -O3 -march=x86-64-v3,
// so that the compiler uses AVX2 and FMA.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 48, WIDTH = 160, HEIGHT = 120 };

static struct {
  double X[BODIES], Y[BODIES], Z[BODIES];
  double VX[BODIES], VY[BODIES], VZ[BODIES];
  double Mass[BODIES];
} Sky;

static uint8_t Image[HEIGHT][WIDTH], Blurred[HEIGHT][WIDTH];

static uint32_t pseudoRandom(void) {
  static uint32_t State = 12345;
  State = State * 1664525 + 1013904223;
  return State >> 8;
}

static void fill(void) {
  for (int I = 0; I < BODIES; ++I) {
    Sky.X[I] = pseudoRandom() % 1000 / 10.0;
    Sky.Y[I] = pseudoRandom() % 1000 / 10.0;
    Sky.Z[I] = pseudoRandom() % 1000 / 10.0;
    Sky.Mass[I] = 1 + pseudoRandom() % 100;
  }
  for (int Y = 0; Y < HEIGHT; ++Y)
    for (int X = 0; X < WIDTH; ++X)
      Image[Y][X] = (uint8_t)pseudoRandom();
}

static void moveBodies(double Step) {
  for (int I = 0; I < BODIES; ++I) {
    double AX = 0, AY = 0, AZ = 0;
    for (int J = 0; J < BODIES; ++J) {
      double DX = Sky.X[J] - Sky.X[I], DY = Sky.Y[J] - Sky.Y[I],
             DZ = Sky.Z[J] - Sky.Z[I];
      double Square = DX * DX + DY * DY + DZ * DZ + 0.01;
      double Pull = Sky.Mass[J] / (Square * sqrt(Square));
      AX += DX * Pull;
      AY += DY * Pull;
      AZ += DZ * Pull;
    }
    Sky.VX[I] += AX * Step;
    Sky.VY[I] += AY * Step;
    Sky.VZ[I] += AZ * Step;
  }
  for (int I = 0; I < BODIES; ++I) {
    Sky.X[I] += Sky.VX[I] * Step;
    Sky.Y[I] += Sky.VY[I] * Step;
    Sky.Z[I] += Sky.VZ[I] * Step;
  }
}

static void blur(void) {
  for (int Y = 1; Y < HEIGHT - 1; ++Y)
    for (int X = 1; X < WIDTH - 1; ++X) {
      unsigned Sum = 4 * Image[Y][X];
      Sum += 2 * (Image[Y - 1][X] + Image[Y + 1][X] + Image[Y][X - 1] +
                  Image[Y][X + 1]);
      Sum += Image[Y - 1][X - 1] + Image[Y - 1][X + 1] + Image[Y + 1][X - 1] +
             Image[Y + 1][X + 1];
      Blurred[Y][X] = (uint8_t)(Sum / 16);
    }
  for (int Y = 1; Y < HEIGHT - 1; ++Y)
    for (int X = 1; X < WIDTH - 1; ++X)
      Image[Y][X] = (uint8_t)(Image[Y][X] + 3 * Blurred[Y][X]);
}

int main(int Argc, char **Argv) {
  long Rounds = Argc > 1 ? atol(Argv[1]) : 1;
  fill();
  for (long Round = 0; Round < Rounds; ++Round) {
    moveBodies(0.001);
    blur();
  }
  unsigned Sum = 0;
  for (int Y = 0; Y < HEIGHT; ++Y)
    for (int X = 0; X < WIDTH; ++X)
      Sum += Image[Y][X];
  printf("%.6f %u\n", Sky.X[0], Sum);
  return 0;
}
