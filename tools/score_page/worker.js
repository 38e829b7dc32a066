// A worker of the page: random draws with kernels of its own, behind the kernels' script.
import { load } from "./caption_kernels.js";

globalThis.onmessage = async ({ data: { bytes, request } }) => {
  try {
    const kernels = await load(bytes);
    const sums = kernels.drawSums(...request);
    postMessage(sums, [sums.buffer]);
  } catch (error) {
    postMessage({ fault: error.message });
  }
};
