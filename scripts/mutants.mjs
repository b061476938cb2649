// @ts-check
// Starts mutants/src/main.ts as built: takes one rule out of the engine at a time and runs the suites that should notice.
import '../mutants/dist/main.js'
