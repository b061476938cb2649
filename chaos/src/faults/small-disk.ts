// The disk of the tables: a tmpfs. Shrinking it to its current usage makes it full.
import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChaosDatabase, queryRows } from '../processes/database.ts'

/** A tmpfs takes only the memory that is used. */
const SIZE = '2g'

export class SmallDisk {
  #path

  constructor(path: string) {
    this.#path = path
  }

  /** Tries it: root in a container may not be allowed to mount. */
  static isPossible() {
    const path = mkdtempSync(join(tmpdir(), 'unstuck-chaos-disk-'))
    const isMounted = run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'unstuck-chaos', path])
    if (isMounted) run('umount', [path])
    rmdirSync(path)
    return isMounted
  }

  /**
   * Puts the tables of a database that is not installed yet onto a small disk. Resolves to null if this process may not mount.
   */
  static async mount(folder: string, database: ChaosDatabase): Promise<SmallDisk | null> {
    const path = join(folder, 'tables')
    mkdirSync(path)
    if (!run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'unstuck-chaos', path])) return null
    const disk = new SmallDisk(path)
    try {
      await disk.#take(database)
      return disk
    } catch (error) {
      run('umount', [path])
      throw error
    }
  }

  async #take(database: ChaosDatabase) {
    const { uid, gid } = statSync(database.dataDir)
    chownSync(this.#path, uid, gid)
    await database.withClient(async (client) => {
      await client.query(`create tablespace small location '${this.#path}'`)
      const [row] = (await queryRows(client, 'select quote_ident(current_database()) as name')) as {
        name: string
      }[]
      await client.query(`alter database ${row?.name} set default_tablespace = small`)
    })
  }

  fill() {
    const { bsize, blocks, bfree } = statfsSync(this.#path)
    return run('mount', ['-o', `remount,size=${(blocks - bfree) * bsize}`, this.#path])
  }

  free() {
    return run('mount', ['-o', `remount,size=${SIZE}`, this.#path])
  }

  /** Copies the files to the disk below: they may be needed as evidence. */
  unmount() {
    const copy = `${this.#path}.copy`
    run('cp', ['-a', this.#path, copy])
    if (!run('umount', [this.#path])) return
    rmdirSync(this.#path)
    renameSync(copy, this.#path)
  }
}

function run(program: string, args: string[]) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}
