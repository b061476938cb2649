// @ts-check
// Starts chaos/src/scenarios/soak.ts as built: steady load for a long time.
import '../chaos/dist/scenarios/soak.js'
