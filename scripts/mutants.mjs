// @ts-check
// Runs mutants/src/main.ts from the build.
import '../mutants/dist/main.js'
