// @ts-check
// Runs chaos/src/main.ts from the build.
import '../chaos/dist/main.js'
