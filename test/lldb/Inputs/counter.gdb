info registers rip
break add
reverse-continue
backtrace
reverse-stepi
x/i $pc
stepi
reverse-continue
print B
delete
watch Counter
reverse-continue
print Counter
continue
print Counter
delete
reverse-continue
info registers rip
continue
print $rip = 0
