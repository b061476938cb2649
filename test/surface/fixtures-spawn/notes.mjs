import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whoever sees the file sees all of it. */
export function leaveNote(folder, name, content) {
  writeFileSync(join(folder, `${name}.part`), String(content))
  renameSync(join(folder, `${name}.part`), join(folder, name))
}

export function stayUntilTold(folder, manner, name) {
  process.on('SIGTERM', () => {
    leaveNote(folder, `${name}.terminated`, process.pid)
    if (manner === 'obey') process.exit(0)
  })
  setInterval(() => undefined, 60_000)
}
