#!/bin/sh
# A worker that returns each frame as it came: for tests of the socket (measure/worker_side.h has its number).
exec cat <&3 >&3
