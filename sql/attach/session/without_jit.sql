-- Our statements run once each: compiling them cost 15 s of processor time, running them takes 0.3 s.
set local jit = off;
