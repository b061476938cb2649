// One reaper and two workers under PM2: copy it beside your package.json, then `pm2 start ecosystem.config.cjs`.
const { dirname, join } = require('node:path')

const script = join(dirname(require.resolve('unstuck/package.json')), 'bin', 'unstuck.js')

const service = {
  script,
  // Not `cluster`: these processes share no socket, and each has its own connections.
  exec_mode: 'fork',
  // Restarting does not fix a wrong configuration.
  stop_exit_codes: [2],
  exp_backoff_restart_delay: 200,
  // The worker ends its child processes itself, after their grace period. PM2 would signal them at once.
  treekill: false,
  merge_logs: true,
}

module.exports = {
  apps: [
    { ...service, name: 'unstuck-reaper', args: ['reaper'], instances: 1, kill_timeout: 15_000 },
    {
      ...service,
      name: 'unstuck-worker',
      args: ['worker', './handlers.js', '--json'],
      instances: 2,
      // More than the grace periods of running jobs (25 s) and of hanging handlers (5 s) together.
      kill_timeout: 40_000,
    },
  ],
}
