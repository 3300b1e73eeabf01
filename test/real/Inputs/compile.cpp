// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
template <int N> struct Factorial {
  static constexpr long Value = N * Factorial<N - 1>::Value;
};
template <> struct Factorial<0> { static constexpr long Value = 1; };

template <typename T> class Vector {
  T *Data = nullptr;
  unsigned long Size = 0;

public:
  ~Vector() { delete[] Data; }
  void push(const T &Value) {
    T *New = new T[Size + 1];
    for (unsigned long I = 0; I < Size; ++I)
      New[I] = Data[I];
    New[Size++] = Value;
    delete[] Data;
    Data = New;
  }
  T &operator[](unsigned long I) { return Data[I]; }
};

long use() {
  Vector<long> Numbers;
  for (long I = 0; I < 10; ++I)
    Numbers.push(I * Factorial<12>::Value);
  return Numbers[9];
}
