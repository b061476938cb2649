import type { Evidence } from './evidence.ts'

/** Runs a world. An error that nobody caught is a violation. */
export async function noteUncaught(evidence: Evidence, run: () => Promise<void>): Promise<void> {
  const note = (error: unknown) =>
    evidence.violations.push({ invariant: 'crash', message: `an error nobody caught: ${String(error)}` })
  process.on('unhandledRejection', note)
  try {
    await run()
  } finally {
    process.off('unhandledRejection', note)
  }
}
