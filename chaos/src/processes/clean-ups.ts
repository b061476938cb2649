// Cleans up however a run ends: kills processes first, then runs the rest in reverse order.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class CleanUps {
  #all: (() => unknown)[] = []
  #kills: (() => void)[] = []

  add(work: () => unknown) {
    this.#all.unshift(work)
  }

  addKill(kill: () => void) {
    this.#kills.push(kill)
  }

  killAll() {
    for (const kill of this.#kills) kill()
  }

  async run() {
    this.killAll()
    for (const work of this.#all.splice(0)) await work()
  }
}

/** Removes the folder afterwards unless it is evidence of a violation. */
export async function withFolder<T extends { violations: unknown[]; history: object }>(
  {
    signal,
    isKept,
    say,
  }: { signal?: AbortSignal | undefined; isKept?: boolean | undefined; say: (line: string) => void },
  work: (folder: string, cleanUps: CleanUps) => Promise<T>,
): Promise<T & { keptIn: string | null }> {
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-chaos-'))
  // Under root the server runs as another user, which needs access to its data.
  chmodSync(folder, 0o755)
  const cleanUps = new CleanUps()
  signal?.addEventListener('abort', () => cleanUps.killAll(), { once: true })
  let isEvidence = isKept === true
  try {
    const result = await work(folder, cleanUps)
    isEvidence ||= result.violations.length > 0
    if (isEvidence) writeFileSync(join(folder, 'history.json'), JSON.stringify(result.history))
    return { ...result, keptIn: isEvidence ? folder : null }
  } finally {
    await cleanUps.run()
    if (isEvidence) say(`ledgers, history and data are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
}
