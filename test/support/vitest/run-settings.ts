// Settings shared by all suites.
export const runSettings = {
  reporters: ['default', './scripts/test/closing-line-reporter.mjs'],
  // Real processes on a busy machine: another try tells a slow moment from a fault, and the closing lines name it.
  retry: process.env['CI'] === undefined ? 0 : 2,
  // Waits end when what they wait for has happened. How long they may last is for a machine that starts a process in 5 s.
  expect: { poll: { timeout: 30_000 } },
}
