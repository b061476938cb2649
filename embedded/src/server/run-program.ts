import { execFile } from 'node:child_process'
import { errnoOf } from '../embedded-postgres-error.ts'

/** The user a server runs as when it is not the current one: PostgreSQL refuses to run as root. */
export type RunAs = { uid: number; gid: number }

export type ProgramResult = { ok: boolean; stdout: string; stderr: string; errno: string | undefined }

/**
 * Only what the programs need: PG* variables would redirect them, and the rest of the caller's environment
 * (secrets included) would be readable by other processes of the user the server runs as.
 * LC_ALL=C keeps the messages that we match in English.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C' }
  for (const name of ['PATH', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot']) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** child_process takes signed 32-bit ids, unlike chown. */
export function spawnIdentity(runAs: RunAs | undefined): { uid?: number; gid?: number } {
  return runAs === undefined ? {} : { uid: runAs.uid | 0, gid: runAs.gid | 0 }
}

export function runProgram(
  file: string,
  args: readonly string[],
  options: { cwd: string; runAs: RunAs | undefined; signal?: AbortSignal | undefined },
): Promise<ProgramResult> {
  const { cwd, runAs, signal } = options
  return new Promise((resolve) => {
    const settings = { cwd, env: programEnvironment(), signal, windowsHide: true, ...spawnIdentity(runAs) }
    execFile(file, args, settings, (error, stdout, stderr) => {
      const reason = stderr.trim() === '' && error !== null ? error.message : stderr
      resolve({ ok: error === null, stdout, stderr: reason, errno: errnoOf(error) })
    })
  })
}
