"""CLIPCap: captions from one CLIP vector, by a mapper and GPT-2."""
