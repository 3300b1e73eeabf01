-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
local sum = 0
for i = 0, 999999 do sum = sum + i end
print(string.format("sum %d", sum))
local sieve, primes = {}, 0
for i = 2, 20000 do
  if not sieve[i] then
    primes = primes + 1
    for j = i * i, 20000, i do sieve[j] = true end
  end
end
print(primes)
local x = 0.5
for i = 1, 100000 do x = 3.9 * x * (1 - x) end
print(x > 0 and x < 1)
local parts = {}
for i = 1, 1000 do parts[#parts + 1] = tostring(i):rep(2) end
print(#table.concat(parts))
local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
local total = 0
for i = 1, 100 do total = total + co() end
print(total, pcall(error, "caught"))
