// @ts-check
// Builds the documentation site into website/dist, and tries its search. VitePress is installed on first use, because it would make the ordinary
// install half as long again; later builds need no network. DOCS_BASE is the base path of the site.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const website = fileURLToPath(new URL('../../website', import.meta.url))

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  // Windows runs .cmd files only through a shell.
  const shell = process.platform === 'win32' && command === 'npm'
  const { status } = spawnSync(command, args, { cwd: website, stdio: 'inherit', shell })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(new URL('../../website/node_modules/vitepress', import.meta.url)))
  // Not `npm ci`, which requires the binaries of every platform in the lock file; npm omits those of other platforms.
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'])
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build'])
run(process.execPath, ['../scripts/docs/check-search.mjs'])
