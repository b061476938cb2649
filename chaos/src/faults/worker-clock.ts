// Gives one process a wrong wall clock through libfaketime, and steps it while the process runs. The monotonic clock is not
// faked: no kernel steps it, and Node aborts if it goes back.
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Install paths of Debian and other distributions. */
const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib64/faketime/libfaketimeMT.so.1',
  '/usr/lib/faketime/libfaketimeMT.so.1',
]
/** Time until a process notices a new offset. Reading the file at each clock read took twelve times as long. */
const NOTICED_AFTER_S = 1

export const clockLibrary = LIBRARIES.find((file) => existsSync(file)) ?? null

/** Removes the shared memory that libfaketime leaks when its process is killed. */
export function removeClockMemory(pid: number | undefined) {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(`/dev/shm/${name}`, { force: true })
}

export class WorkerClock {
  #file
  #wrongByS

  /** `file` holds the offset; `wrongByS` applies from the start. */
  constructor(file: string, wrongByS: number) {
    this.#file = file
    this.#wrongByS = wrongByS
    this.step(0)
  }

  /** Passes the true time as well: ledgers must not use the clock under test. */
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

  /** Adds to the initial offset; 0 undoes a step. */
  step(byS: number) {
    const offsetS = this.#wrongByS + byS
    writeFileSync(this.#file, `${offsetS < 0 ? '' : '+'}${offsetS}\n`)
  }
}
