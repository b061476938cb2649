// What every suite's run has in common.
export const runSettings = {
  reporters: ['default', './scripts/closing-line-reporter.mjs'],
  // Real processes on a busy machine: a second try tells a slow moment from a fault, and the closing lines name it.
  retry: process.env['CI'] === undefined ? 0 : 1,
}
