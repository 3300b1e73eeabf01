info registers rax rcx rdx rsi rdi r8 r12 eflags
info registers rip
info all-registers st0
x/x 0
x/2xw 16
backtrace
reverse-next
info locals
reverse-step
info locals
reverse-step
backtrace
reverse-step
print Counter
reverse-finish
info locals
tbreak walk.c:24
reverse-continue
backtrace
info locals
print History
reverse-next
reverse-next
info locals
reverse-next
info locals
reverse-next
reverse-next
reverse-step
backtrace
info args
reverse-step
reverse-step
reverse-step
backtrace
info args
step
next
info locals
finish
info locals
reverse-finish
backtrace
tbreak walk.c:32
continue
break add
reverse-continue
backtrace
reverse-continue
info args
print Counter
info breakpoints
condition 5 A == 3
reverse-continue
backtrace
info args
x/4dw &History
x/3i $pc
reverse-stepi
x/i $pc
stepi
x/i $pc
reverse-nexti
nexti
disable
reverse-step 3
reverse-next 2
backtrace
delete
watch Counter
reverse-continue
print Counter
reverse-continue
print Counter
continue
print Counter
delete
watch History[3] if Counter > 5
reverse-continue
backtrace
info locals
continue
info locals
delete
tbreak sum if N == 2
reverse-continue
backtrace
up
info locals
print $rip
down
until
advance add
info args
p $eflags
info symbol $pc
info line
list
