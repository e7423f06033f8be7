/* ASN.1 in its DER form, as much of it as a certificate needs. Source: ITU-T X.690. */

/** Any value: tag, length, content. */
export function bytes(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return bytes(0x30, Buffer.concat(parts));
}

export function set(...parts: readonly Buffer[]): Buffer {
  return bytes(0x31, Buffer.concat(parts));
}

/** A value with a number of its own around it. */
export function explicit(number: number, value: Buffer): Buffer {
  return bytes(0xa0 + number, value);
}

/** Big-endian; its first bit must be 0 and its first byte must not be. */
export function integer(value: Buffer): Buffer {
  return bytes(0x02, value);
}

export function bits(value: Buffer): Buffer {
  return bytes(0x03, Buffer.concat([Buffer.from([0]), value]));
}

export function octets(value: Buffer): Buffer {
  return bytes(0x04, value);
}

export function text(value: string): Buffer {
  return bytes(0x0c, Buffer.from(value));
}

export function yes(): Buffer {
  return bytes(0x01, Buffer.from([0xff]));
}

/** To the second; from 1950 to 2049. */
export function moment(date: Date): Buffer {
  return bytes(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
}

/** From its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return bytes(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(number: number): number[] {
  const digits = [number & 0x7f];
  for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}
