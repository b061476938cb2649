// @ts-check
// Runs chaos/src/scenarios/soak.ts from the build.
import '../chaos/dist/scenarios/soak.js'
