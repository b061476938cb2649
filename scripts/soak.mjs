// @ts-check
// Steady load for a long time: chaos/src/scenarios/soak.mjs.
import '../chaos/src/scenarios/soak.mjs'
