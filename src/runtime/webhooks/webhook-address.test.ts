import { describe, expect, it } from 'vitest'
import { findAddress, isPrivateAddress } from './webhook-address.ts'

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001::1',
  ])('C22 %s is not public', (address) => {
    expect(isPrivateAddress(address)).toBe(true)
  })

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'C22 %s is public',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    },
  )
})

describe('findAddress', () => {
  const find = (url: string, ...addresses: string[]) =>
    findAddress(new URL(url), {
      allowsPrivate: false,
      resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    })

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
  ])('C22 the literal %s is refused though no name is resolved', async (url) => {
    await expect(find(url, '8.8.8.8')).rejects.toThrow('is not a public address')
  })

  it('C22 one private address among several is enough to refuse a name', async () => {
    await expect(find('https://example.com/', '8.8.8.8', '10.0.0.1')).rejects.toThrow('refused: 10.0.0.1')
    expect(await find('https://example.com/', '8.8.8.8', '8.8.4.4')).toEqual({
      address: '8.8.8.8',
      family: 4,
    })
    await expect(find('https://example.com/')).rejects.toThrow('has no address')
  })

  it('C22 only https is called, unless private networks are allowed', async () => {
    await expect(find('http://example.com/', '8.8.8.8')).rejects.toThrow('http is not https')
    const loose = { allowsPrivate: true }
    expect(await findAddress(new URL('http://[::1]:8080/'), loose)).toEqual({ address: '::1', family: 6 })
    await expect(findAddress(new URL('ftp://127.0.0.1/'), loose)).rejects.toThrow('ftp is not https')
  })
})
