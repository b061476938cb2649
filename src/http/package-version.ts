import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

export const packageVersion = (JSON.parse(text) as { version: string }).version
