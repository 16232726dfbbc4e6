#!/usr/bin/env tclsh
# Plays random legal actions, and answers with their text. It needs no library.

# Returns the JSON value that begins at token $at: an object as a dictionary, an array as a list.
proc value {} {
    global tokens at
    set token [lindex $tokens $at]
    incr at
    if {[string index $token 0] eq "\""} {
        return [subst -nocommands -novariables [string range $token 1 end-1]]
    }
    if {$token ni {\{ \[}} {
        return $token
    }
    set values {}
    while {[lindex $tokens $at] ni {\} \]}} {
        lappend values [value]
    }
    incr at
    return $values
}

fconfigure stdin -encoding utf-8
fconfigure stdout -buffering line -encoding utf-8
while {[gets stdin line] >= 0} {
    set tokens [regexp -all -inline {[][{}]|"(?:[^"\\]|\\.)*"|[^][{}",:\s]+} $line]
    set at 0
    set message [value]
    if {[dict get $message type] eq "decision"} {
        puts [lindex [dict get $message legal] [dict get $message random_index]]
    }
}
