// The wall clock of one process, wrong from its start and changed while it runs, by libfaketime. The monotonic clock stays as it
// is: no kernel steps it, and Node aborts where it goes back.
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Where Debian and others put it. */
const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib64/faketime/libfaketimeMT.so.1',
  '/usr/lib/faketime/libfaketimeMT.so.1',
]
/** How soon a process notices another offset; reading the file at every look at the clock took twelve times as long. */
const NOTICED_AFTER_S = 1

export const clockLibrary = LIBRARIES.find((file) => existsSync(file)) ?? null

/** What libfaketime leaves behind of a process that was killed. */
export function removeClockMemory(pid: number | undefined) {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(`/dev/shm/${name}`, { force: true })
}

export class WorkerClock {
  #file
  #wrongByS

  /**
   * @param file for the offset
   * @param wrongByS from the start on
   */
  constructor(file: string, wrongByS: number) {
    this.#file = file
    this.#wrongByS = wrongByS
    this.step(0)
  }

  /** The time that goes into ledgers is not taken from the clock under test. */
  env(): NodeJS.ProcessEnv {
    const trueOffsetMs = Date.now() - Number(process.hrtime.bigint()) / 1e6
    if (clockLibrary === null) return { CHAOS_CLOCK_OFFSET_MS: String(trueOffsetMs) }
    return {
      CHAOS_CLOCK_OFFSET_MS: String(trueOffsetMs),
      LD_PRELOAD: clockLibrary,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: String(NOTICED_AFTER_S),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** @param byS over what it is wrong by anyway; 0 takes a step back */
  step(byS: number) {
    const offsetS = this.#wrongByS + byS
    writeFileSync(this.#file, `${offsetS < 0 ? '' : '+'}${offsetS}\n`)
  }
}
