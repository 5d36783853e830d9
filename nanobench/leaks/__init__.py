"""What of a task's solution lies in an image: in files, archives, repositories, compiled and installed copies."""
