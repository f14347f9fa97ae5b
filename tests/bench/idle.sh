#!/bin/sh
# An agent at rest for benchmarks: a screen full of coloured lines, a composer, a footer; then it only reads.
stty raw -echo
line=0
while [ $line -lt 36 ]; do
    printf '\033[38;5;246m●\033[39m line %d of what it said, with a \033[1mbold\033[22m word and some more text\r\n' $line
    line=$((line + 1))
done
printf '\r\n> \r\n\r\nready\033[2A\033[3G'
[ -z "$IDLE_LOG" ] || : >"$IDLE_LOG/$FAN_MEMBER"
exec cat >/dev/null
