export async function timed<T>(work: () => Promise<T>): Promise<[tookMs: number, value: T]> {
  const startedAtMs = performance.now()
  const value = await work()
  return [performance.now() - startedAtMs, value]
}
