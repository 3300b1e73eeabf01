// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads move money between two accounts, in opposite directions.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

struct Account {
  std::mutex Lock;
  long Balance = 1000;
};

static Account Alice, Bob;

static void transfer(Account &From, Account &To, long Amount) {
  std::lock_guard<std::mutex> First(From.Lock);
  std::this_thread::sleep_for(1ms); // Looks up the rate.
  std::lock_guard<std::mutex> Second(To.Lock);
  From.Balance -= Amount;
  To.Balance += Amount;
}

int main() {
  std::puts("transferring");
  std::fflush(stdout);
  std::thread There([] {
    for (int I = 0; I < 1000; ++I)
      transfer(Alice, Bob, 5);
  });
  std::thread Back([] {
    for (int I = 0; I < 1000; ++I)
      transfer(Bob, Alice, 5);
  });
  There.join();
  Back.join();
  std::printf("%ld %ld\n", Alice.Balance, Bob.Balance);
}
