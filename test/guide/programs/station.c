// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A weather station: reads its sensors from a list, then averages them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Sensor {
  double Celsius;
  char Place[16];
  struct Sensor *Next;
};

static struct Sensor *Sensors;

static void add_sensor(const char *Place, double Celsius) {
  struct Sensor *New = malloc(sizeof *New);
  New->Celsius = Celsius;
  New->Next = Sensors;
  strcpy(New->Place, Place);
  Sensors = New;
}

static double average(void) {
  double Sum = 0;
  int Count = 0;
  for (struct Sensor *S = Sensors; S; S = S->Next) {
    Sum += S->Celsius;
    ++Count;
  }
  return Sum / Count;
}

int main(void) {
  add_sensor("roof", 11.5);
  add_sensor("cellar", 9.0);
  add_sensor("behind the greenhouse", 17.5);
  add_sensor("garage", 12.0);
  printf("average: %.1f\n", average());
  return 0;
}
