// The disk that the tables are on: a tmpfs, which becomes full when it is made as small as what is on it.
import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queryRows } from '../processes/database.mjs'

/** @import { ChaosDatabase } from '../processes/database.mjs' */

/** Memory is only taken by what is written. */
const SIZE = '2g'

export class SmallDisk {
  #path

  /** @param {string} path */
  constructor(path) {
    this.#path = path
  }

  /** Root in a container may be allowed less than root. */
  static isPossible() {
    const path = mkdtempSync(join(tmpdir(), 'unstuck-chaos-disk-'))
    const isMounted = run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'unstuck-chaos', path])
    if (isMounted) run('umount', [path])
    rmdirSync(path)
    return isMounted
  }

  /**
   * @param {string} folder
   * @param {ChaosDatabase} database whose tables go onto it; not installed yet
   * @returns {Promise<SmallDisk | null>} null where this process may not mount
   */
  static async mount(folder, database) {
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

  /** @param {ChaosDatabase} database */
  async #take(database) {
    const { uid, gid } = statSync(database.dataDir)
    chownSync(this.#path, uid, gid)
    await database.withClient(async (client) => {
      await client.query(`create tablespace small location '${this.#path}'`)
      const [row] = /** @type {{ name: string }[]} */ (
        await queryRows(client, 'select quote_ident(current_database()) as name')
      )
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

  /** What is on it stays where it is, on the disk below: it may be needed as evidence. */
  unmount() {
    const copy = `${this.#path}.copy`
    run('cp', ['-a', this.#path, copy])
    if (!run('umount', [this.#path])) return
    rmdirSync(this.#path)
    renameSync(copy, this.#path)
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}
