// A worker with one family running. It leaves by itself when its standard input ends.
// Arguments: a folder, how the family takes SIGTERM, and the grace in milliseconds.
import { spawnChild } from '../../../dist/runtime/spawn-child.js'

const [folder, manner, killGraceMs] = process.argv.slice(2)
const family = new URL('family.mjs', import.meta.url).pathname
process.stdin.on('end', () => process.exit(0)).resume()
await spawnChild(process.execPath, [family, folder, manner], {
  signal: new AbortController().signal,
  killGraceMs: Number(killGraceMs),
})
