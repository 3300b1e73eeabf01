# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
use strict;
use warnings;
my %count;
my $state = 12345;
for (1 .. 4000) {
    $state = ($state * 1103515245 + 12345) % 2**31;
    $count{"w" . $state % 97}++;
}
print "distinct ", scalar(keys %count), "\n";
print join(" ", (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 4]), "\n";
my $text = "the quick brown fox " x 50;
my $vowels = () = $text =~ /[aeiou]/g;
(my $copy = $text) =~ s/(\w+) (\w+)/$2 $1/g;
print "$vowels ", substr($copy, 0, 30), "\n";
eval { die "in eval\n" };
print "caught $@";
printf "%.5f %s\n", atan2(1, 1) * 4, join ",", map { $_ * $_ } 1 .. 10;
my $output = `echo from a child`;
print $output;
