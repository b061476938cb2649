import { readFile } from 'node:fs/promises'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'

/** Of the package that is installed, and only where it can be loaded by this Node. */
export async function readPeerVersion(name: string) {
  await importPeer(name)
  const file = new URL(`../../../../bench/node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
