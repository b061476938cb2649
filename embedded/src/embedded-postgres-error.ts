export type EmbeddedPostgresErrorCode =
  | 'ALREADY_RUNNING'
  | 'BAD_OPTION'
  | 'DATA_DIR_UNUSABLE'
  | 'NO_ACCESS'
  | 'NO_BINARIES'
  | 'PORT_TAKEN'
  | 'READ_ONLY'
  | 'START_FAILED'
  | 'UNTRUSTED_FOLDER'

export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

export function isPermissionErrno(errno: string | undefined): boolean {
  return errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS'
}

/** Runs a step that writes to `folder`, and says in one sentence what to do when the file system refuses. */
export async function writing<T>(folder: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    const errno = errnoOf(cause)
    if (errno === 'EROFS') {
      const message = `Cannot write to ${folder}: the file system is read-only. Set dataDir to a writable folder.`
      throw new EmbeddedPostgresError('READ_ONLY', message, { cause })
    }
    if (isPermissionErrno(errno)) {
      const message = `Cannot write to ${folder}: permission denied. Set dataDir to a folder of your own.`
      throw new EmbeddedPostgresError('NO_ACCESS', message, { cause })
    }
    throw cause
  }
}
