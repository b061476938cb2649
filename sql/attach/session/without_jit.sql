-- Each statement runs once: compiling took 15 s of CPU time, running takes 0.3 s.
set local jit = off;
