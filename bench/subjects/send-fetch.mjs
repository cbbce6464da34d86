// Sends with `fetch`, for the loops by hand.

export const sendByFetch = (url, headers) => async (body, onText) => {
  const response = await fetch(url, { method: "POST", headers, body });
  const utf8 = new TextDecoder();
  for await (const chunk of response.body) onText(utf8.decode(chunk, { stream: true }));
};
