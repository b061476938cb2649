import { readFile } from 'node:fs/promises'
import { importPeer } from '../../../../bench/contenders/import-peer.mjs'

/** Version of the installed package. Throws if this Node cannot load it. */
export async function readPeerVersion(name: string) {
  await importPeer(name)
  const file = new URL(`../../../../bench/node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
