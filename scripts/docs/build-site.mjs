// @ts-check
// Builds the documentation into website/dist. VitePress is no part of the ordinary install, which it would make half as long
// again: it is installed on first use, and building needs no network after that. DOCS_BASE is the path of the site.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const website = fileURLToPath(new URL('../../website', import.meta.url))

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  // Windows starts .cmd files through a shell only.
  const shell = process.platform === 'win32' && command === 'npm'
  const { status } = spawnSync(command, args, { cwd: website, stdio: 'inherit', shell })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(new URL('../../website/node_modules/vitepress', import.meta.url)))
  // Not `npm ci`: it wants the binaries of every platform in the lock file, and npm leaves those of others out.
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'])
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build'])
