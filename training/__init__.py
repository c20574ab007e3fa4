import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums are made in one order; read when numpy is imported
