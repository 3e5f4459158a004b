import { createHmac, timingSafeEqual } from "node:crypto";

const LIFETIME_SECONDS = 8 * 3600;
const RENEW_SECONDS = 3600;

export interface TokenUser {
  name: string;
  expires: number;
}

function sign(text: string): Buffer {
  return createHmac("sha256", process.env.TOKEN_KEY ?? "").update(text).digest();
}

export function issueToken(name: string, now = Date.now() / 1000): string {
  const body = Buffer.from(JSON.stringify({ name, expires: now + LIFETIME_SECONDS })).toString("base64url");
  return `${body}.${sign(body).toString("base64url")}`;
}

export async function verifyToken(token: string, now = Date.now() / 1000): Promise<TokenUser | undefined> {
  const [body, signature] = token.split(".");
  if (!body || !signature) return undefined;
  const given = Buffer.from(signature, "base64url");
  const wanted = sign(body);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const user = JSON.parse(Buffer.from(body, "base64url").toString()) as TokenUser;
  return user.expires > now ? user : undefined;
}

export async function renewIfOld(user: TokenUser, now = Date.now() / 1000): Promise<string | undefined> {
  return user.expires - now < RENEW_SECONDS ? issueToken(user.name, now) : undefined;
}
