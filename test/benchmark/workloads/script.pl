# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Typical work for Perl: lines, patterns, hashes, sorting. `script.pl N` does N rounds.
use strict;
use warnings;

my $rounds = $ARGV[0];
my %seen;
my $sum = 0;
for my $round (1 .. $rounds) {
    my $line = join ' ', map { "word" . ($_ * $round % 331) } 1 .. 40;
    while ($line =~ /(w[a-z]+)(\d+)/g) {
        $seen{$2}++;
    }
    (my $changed = $line) =~ s/(\d)(\d)/$2$1/g;
    my @sorted = sort { $seen{$b} <=> $seen{$a} || $a <=> $b } keys %seen;
    $sum += length($changed) + $sorted[0] + scalar split / /, $changed;
}
print "$sum\n";
