from gviz.families.family import KernelFamily as KernelFamily
from gviz.families.family import KernelLibrary as KernelLibrary
from gviz.families.family import Kind as Kind
from gviz.families.label import joined_labels as joined_labels
from gviz.families.label import kernel_label as kernel_label
from gviz.families.naming import family_of as family_of
