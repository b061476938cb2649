// A worker with one family running. It leaves by itself when its standard input ends.
// Arguments: a folder, how the family takes SIGTERM, and the grace in milliseconds.
import { spawnChild } from '../../../dist/runtime/child/spawn-child.js'

const [folder, manner, killGraceMs] = process.argv.slice(2)
const family = new URL('family.mjs', import.meta.url).pathname
process.stdin.on('end', () => process.exit(0)).resume()
// An empty environment: the watchdog must know the group from being told, not from looking for it.
await spawnChild('/usr/bin/env', ['-i', process.execPath, family, folder, manner], {
  signal: new AbortController().signal,
  killGraceMs: Number(killGraceMs),
})
