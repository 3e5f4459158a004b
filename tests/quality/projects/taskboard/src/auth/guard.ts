import { renewIfOld, verifyToken } from "./tokens.js";

/** Refuse a request without a valid bearer token. */
export async function requireToken(request: Request): Promise<Response | undefined> {
  const header = request.headers.get("authorization") ?? "";
  const user = await verifyToken(header.replace(/^Bearer /, ""));
  if (!user) return new Response("a valid token is needed", { status: 401 });
  await renewIfOld(user);
  return undefined;
}
