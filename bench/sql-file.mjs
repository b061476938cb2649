// @ts-check
import { readFileSync } from 'node:fs'

/** @param {string} name */
export const readBenchSql = (name) => readFileSync(new URL(`sql/${name}.sql`, import.meta.url), 'utf8')
