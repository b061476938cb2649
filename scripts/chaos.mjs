// @ts-check
// Starts chaos/src/main.ts as built: it judges workers, reapers and a database under faults.
import '../chaos/dist/main.js'
