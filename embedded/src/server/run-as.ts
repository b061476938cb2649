import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunAs, runProgram } from './run-program.ts'

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** `nobody` exists everywhere without creating users. macOS writes it as -2, which chown wants unsigned. */
export async function nobody(): Promise<RunAs> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const fields = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(passwd)
  return { uid: Number(fields?.[1] ?? 65_534) >>> 0, gid: Number(fields?.[2] ?? 65_534) >>> 0 }
}

/** The owner of a data directory that already holds data: only that user can run a server on it. */
export async function ownerOfData(dataDir: string): Promise<RunAs | undefined> {
  const found = await stat(join(dataDir, 'PG_VERSION')).catch(() => undefined)
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid }
}

/** Asks the kernel rather than reading mode bits: ACLs and every parent folder count. */
export async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  const result = await runProgram('/bin/sh', ['-c', '[ -x "$0" ]', folder], { cwd: '/', runAs })
  return result.ok
}
