/** Loaded on demand: workers need neither the installer nor the scanners. */
export const loadPostgres = () => import('../store/postgres/index.ts')
