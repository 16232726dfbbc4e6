#!/usr/bin/env perl
# Plays random legal actions, which it chooses by itself, by the rule of the starters.
use strict;
use warnings;
use Digest::SHA 'sha256';
use JSON::PP;

$| = 1;    # flush every line
my $seed = $ENV{ASARA_SEED} // rand;

while (my $line = <STDIN>) {
    my $message = JSON::PP->new->decode($line);    # texts stay UTF-8, as SHA-256 needs them
    next if $message->{type} ne 'decision';
    my $name = join '/', $seed, @$message{qw(match_id seat)}, $message->{decision}{decision_id};
    print unpack('Q>', sha256 $name) % @{$message->{legal}}, "\n";
}
