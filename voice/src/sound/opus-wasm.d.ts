/** The package describes only its main module, which loads a native one; both forms are alike. */
declare module '@evan/opus/wasm/index.js' {
  export class Encoder {
    constructor(options: { channels: 1 | 2; sample_rate: number; application: 'voip' | 'audio' })
    ctl(command: number, value: number): number
    encode(samples: ArrayBufferView): Uint8Array
    drop(): void
  }
  export class Decoder {
    constructor(options: { channels: 1 | 2; sample_rate: number })
    decode(packet: ArrayBufferView): Uint8Array
    drop(): void
  }
}
