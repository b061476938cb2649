// @ts-check
// Bundles sim/src/main.ts, without a build of the rest, and runs it.
import { bundleSimulator } from './bundle/bundle-simulator.mjs'

await import(await bundleSimulator())
